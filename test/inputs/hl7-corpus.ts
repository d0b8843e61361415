/** The messages under test/messages, as bytes; where they come from says the README there. */
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../messages/', import.meta.url);

export interface CorpusMessage {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export function corpus(): CorpusMessage[] {
  return ['linuxforhealth/', 'reportstream/'].flatMap((folder) =>
    readdirSync(new URL(folder, FOLDER))
      .filter((file) => file.endsWith('.hl7'))
      .sort()
      .map((file) => ({ name: folder + file, bytes: readFileSync(new URL(folder + file, FOLDER)) })),
  );
}
