import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import { newExchange, serveAs } from './exchange.ts';

/** An app behind a server that is not its own, as the API stands behind the front. */
function behindServer(name: string) {
  const [app, exchange] = [express(), newExchange()];
  serveAs(app, exchange);
  app.set('name', name);
  app.post('/thing', (req, res) => {
    res.status(201).json({ app: req.app.get('name'), type: req.get('content-type'), isSame: res.app === app });
  });
  const isBornSo: boolean[] = [];
  const server = createServer(exchange, (req, res) => {
    isBornSo.push(Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response);
    app(req, res);
  });
  return { server, isBornSo };
}

test('requests and responses have the prototypes of the app before it sees them, and those of Express behind', async () => {
  const { server, isBornSo } = behindServer('one');
  const answer = await request(server).post('/thing').type('json').send('{}').expect(201);
  expect(answer.body).toEqual({ app: 'one', type: 'application/json', isSame: true });
  expect(isBornSo).toEqual([true, true]);
});

test('each server has its own app', async () => {
  const [one, other] = [behindServer('one'), behindServer('other')];
  const names = [];
  for (const { server } of [one, other, one]) names.push((await request(server).post('/thing')).body.app);
  expect(names).toEqual(['one', 'other', 'one']);
});
