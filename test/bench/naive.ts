import 'reflect-metadata';
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  BadRequestException,
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Headers,
  HttpCode,
  Inject,
  Injectable,
  Module,
  Post,
  UnauthorizedException,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { Request } from 'express';
import pg from 'pg';

/**
 * The naive ledger: what a team would write first. NestJS on Express, one SQL transaction per transfer with `FOR UPDATE`, the key of
 * the request kept in it. Arguments: database URL, authorization header, number of accounts.
 */
const [url, authorization, accounts] = process.argv.slice(2) as [string, string, string];

const POOL = Symbol('pool');
const sha256 = (text: string) => createHash('sha256').update(text).digest();
const expected = sha256(authorization);

@Injectable()
class BasicAuthentication implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const given = context.switchToHttp().getRequest<Request>().headers.authorization ?? '';
    if (!timingSafeEqual(sha256(given), expected)) throw new UnauthorizedException();
    return true;
  }
}

class Transfer {
  from!: string;
  to!: string;
  amount!: number;
}

@Controller('transfers')
class TransfersController {
  private readonly pool: pg.Pool;

  constructor(@Inject(POOL) pool: pg.Pool) {
    this.pool = pool;
  }

  @Post()
  @HttpCode(200)
  async create(@Body() { from, to, amount }: Transfer, @Headers('idempotency-key') key: string) {
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      const transfer = await transferIn(client, { from, to, amount }, key);
      await client.query('COMMIT');
      return transfer;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  }
}

async function transferIn(client: pg.PoolClient, { from, to, amount }: Transfer, key: string) {
  const { rows } = await client.query<{ id: string; balance: string }>(
    'SELECT id, balance FROM accounts WHERE id = ANY($1) ORDER BY id FOR UPDATE',
    [[from, to]],
  );
  const balance = rows.find((row) => row.id === from)?.balance;
  if (balance === undefined || BigInt(balance) < BigInt(amount)) throw new BadRequestException('insufficient funds');
  await client.query('UPDATE accounts SET balance = balance - $2 WHERE id = $1', [from, amount]);
  await client.query('UPDATE accounts SET balance = balance + $2 WHERE id = $1', [to, amount]);
  const transfer = { id: randomUUID(), from, to, amount };
  await client.query('INSERT INTO transfers (id, from_account, to_account, amount) VALUES ($1, $2, $3, $4)', [
    transfer.id,
    from,
    to,
    amount,
  ]);
  await client.query('INSERT INTO idempotency_keys (key, answer) VALUES ($1, $2)', [key, JSON.stringify(transfer)]);
  return transfer;
}

async function createTables(pool: pg.Pool): Promise<void> {
  await pool.query(`
    CREATE TABLE accounts (id text PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0));
    CREATE TABLE transfers (
      id uuid PRIMARY KEY, from_account text NOT NULL REFERENCES accounts, to_account text NOT NULL REFERENCES accounts,
      amount bigint NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
    CREATE INDEX ON transfers (from_account);
    CREATE INDEX ON transfers (to_account);
    CREATE TABLE idempotency_keys (key text PRIMARY KEY, answer text NOT NULL);
    INSERT INTO accounts SELECT 'account-' || n, 1000000000000 FROM generate_series(0, ${Number(accounts) - 1}) n;
    ANALYZE accounts`);
}

const pool = new pg.Pool({ connectionString: url, max: 20 });

@Module({
  controllers: [TransfersController],
  providers: [
    { provide: POOL, useValue: pool },
    { provide: APP_GUARD, useClass: BasicAuthentication },
  ],
})
class NaiveLedger {}

await createTables(pool);
const app = await NestFactory.create(NaiveLedger, { logger: false });
await app.listen(0, '127.0.0.1');
const server = app.getHttpServer() as Server;
server.keepAliveTimeout = 60_000;
process.send!({ port: (server.address() as AddressInfo).port });
process.on('disconnect', () => process.exit(0));
