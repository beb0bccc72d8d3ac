import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Inject, Module, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';

/**
 * A bare NestJS GET: the query of a GET by id and nothing else, no authentication, no checks, no view. What NestJS leaves to win.
 * Arguments: database URL, platform, environment.
 */
const [url, platform, environment] = process.argv.slice(2) as [string, string, string];

const POOL = Symbol('pool');

@Controller('rows')
class RowsController {
  private readonly pool: pg.Pool;

  constructor(@Inject(POOL) pool: pg.Pool) {
    this.pool = pool;
  }

  @Get(':id')
  async get(@Param('id') id: string) {
    const { rows } = await this.pool.query<{ state: string }>({
      name: 'by_id',
      text: 'SELECT state FROM payments WHERE id = $1 AND platform = $2 AND environment = $3',
      values: [id.slice(id.indexOf(':') + 1), platform, environment],
    });
    return JSON.parse(rows[0]!.state);
  }
}

@Module({
  controllers: [RowsController],
  providers: [{ provide: POOL, useValue: new pg.Pool({ connectionString: url, max: 10 }) }],
})
class Bare {}

const app = await NestFactory.create(Bare, { logger: false });
await app.listen(0, '127.0.0.1');
const server = app.getHttpServer() as Server;
server.keepAliveTimeout = 60_000;
process.send!({ port: (server.address() as AddressInfo).port });
process.on('disconnect', () => process.exit(0));
