/** Prometheus' text format 0.0.4. */

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** A histogram's addition to the family's name. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels: Labels;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
const escape = (text: string): string => text.replaceAll(/[\\"\n]/g, (character) => ESCAPED[character] ?? '');

function line(name: string, { suffix, labels, value }: Sample): string {
  const printed = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`);
  return `${name}${suffix ?? ''}${printed.length === 0 ? '' : `{${printed.join(',')}}`} ${value}`;
}

/** A family without samples is printed too, so that rules about it find it. */
export function exposition(families: readonly Family[]): string {
  const lines = families.flatMap(({ name, type, help, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map((sample) => line(name, sample)),
  ]);
  return `${lines.join('\n')}\n`;
}
