import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { IdTally } from './numbered-lines.ts';

/** up: 200 · refusing: 503 · rejecting: 400 · dead: the connection is cut without an answer. */
export type SinkPhase = 'up' | 'refusing' | 'rejecting' | 'dead';

const STATUS = { up: 200, refusing: 503, rejecting: 400 };

/** A destination for out_http on loopback. What came whole while it was up counts as delivered. */
export class HttpSink {
  readonly tally = new IdTally();
  readonly port: number;
  phase: SinkPhase = 'up';
  delay = 0;
  requests = 0;
  #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('request', (request, response) => {
      this.#take(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<HttpSink> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new HttpSink(server);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++;
    const { phase } = this;
    if (phase === 'dead') {
      response.destroy();
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    if (phase === 'up') this.tally.add(Buffer.concat(parts));
    if (this.delay > 0) await sleep(this.delay);
    response.writeHead(STATUS[phase]).end();
  }
}
