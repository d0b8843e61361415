/** MLLP senders of others, unchanged, each as a function of a message's text: what a hospital's engine would be. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Hl7Message } from '@medplum/core';
import { Hl7Client, ReturnAckCategory } from '@medplum/hl7';
import Client, { Message } from 'node-hl7-client';
import simpleHl7 from 'simple-hl7';

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Peer {
  readonly name: string;
  /** @returns each ACK as the peer read it: MSA-1 and MSA-2 */
  send(to: Address, messages: readonly string[]): Promise<string[]>;
}

const ACK_TIMEOUT_MS = 20_000;

type MedplumMessage = Parameters<Hl7Client['sendAndWait']>[0];
// It brings another `@medplum/core`, whose private fields make another type of the same class.
const medplumMessage = (text: string) => Hl7Message.parse(text) as unknown as MedplumMessage;

const medplum: Peer = {
  name: '@medplum/hl7',
  async send(to, messages) {
    const client = new Hl7Client({ ...to });
    const options = { timeoutMs: ACK_TIMEOUT_MS, returnAck: ReturnAckCategory.FIRST };
    try {
      // All at once on one connection: it knows its answers by MSA-2.
      const acks = await Promise.all(messages.map((text) => client.sendAndWait(medplumMessage(text), options)));
      return acks.map((ack) => [1, 2].map((field) => ack.getSegment('MSA')?.getField(field)?.toString()).join(' '));
    } finally {
      await client.close();
    }
  },
};

const nodeHl7Client: Peer = {
  name: 'node-hl7-client',
  async send({ host, port }, messages) {
    // It takes the messages of one version.
    const version = messages[0]?.includes('|P|2.3') === true ? '2.3' : '2.5.1';
    const client = new Client({ host, version });
    const acks: string[] = [];
    const waiting: (() => void)[] = [];
    const connection = client.createConnection({ port, version }, (response) => {
      const ack = response.getMessage();
      acks.push(`${ack.get('MSA.1').toString()} ${ack.get('MSA.2').toString()}`);
      waiting.shift()?.();
    });
    try {
      for (const text of messages) {
        const answered = new Promise<void>((resolve) => void waiting.push(resolve));
        await connection.sendMessage(new Message({ text }));
        await answered;
      }
      return acks;
    } finally {
      await connection.close();
    }
  },
};

const simple: Peer = {
  name: 'simple-hl7',
  async send({ host, port }, messages) {
    const client = simpleHl7.Server.createTcpClient({ host, port, keepalive: true });
    const acks: string[] = [];
    const parser = new simpleHl7.Parser({ segmentSeperator: '\r' });
    try {
      for (const text of messages) {
        const ack = await new Promise<ReturnType<typeof parser.parse>>((resolve, reject) => {
          client.send(parser.parse(text), (error, answer) =>
            answer === undefined ? reject(error ?? new Error('no answer')) : resolve(answer),
          );
        });
        const msa = ack.getSegment('MSA');
        acks.push(`${msa?.getField(1)} ${msa?.getField(2)}`);
      }
      return acks;
    } finally {
      client.close();
    }
  },
};

/** Debian's python3-hl7, or `pip install hl7`. */
const mllpSend: Peer = {
  name: 'python3-hl7 mllp_send',
  async send({ host, port }, messages) {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-mllp-send-'));
    try {
      const file = join(folder, 'messages.mllp');
      await writeFile(file, messages.map((text) => `\u000b${text}\u001c\r`).join(''));
      const { stdout } = await promisify(execFile)('mllp_send', ['--file', file, '--port', String(port), host], {
        timeout: ACK_TIMEOUT_MS,
      });
      return [...stdout.matchAll(/^MSA\|(\w\w)\|([^|\r\n]*)/gm)].map(([, code, control]) => `${code} ${control}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

export const PEERS: readonly Peer[] = [medplum, nodeHl7Client, simple, mllpSend];

/** False where the machine has no python3-hl7: npm cannot bring it. */
export async function isInstalled({ name }: Peer): Promise<boolean> {
  if (name !== mllpSend.name) return true;
  return promisify(execFile)('mllp_send', ['--version']).then(
    () => true,
    () => false,
  );
}
