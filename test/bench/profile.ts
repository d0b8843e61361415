/**
 * Where the gateway's JavaScript spends its time, by place and by function, on each runtime: look here before anything is
 * changed for speed. Times are of the clock, as the sampler sees it: of a busy machine only the shares count. What a function
 * spends in a native that it calls is that native's where V8 knows it, else its own.
 */
import { freePort } from '../stack/services/free-port.ts';
import { type GatewayStack, type Operation, startGatewayStack } from './gateway-stack.ts';
import { measureHttp } from './load.ts';
import { connectProfiler, type Spent, spentIn } from './v8-profile.ts';

export interface Row {
  readonly what: string;
  readonly where: string;
  /** Empty: all of them together. */
  readonly function: string;
  readonly 'µs a request': string;
}

const OPERATIONS = /read|identifier|create|ADT, patients/;
/** V8 needs some thousand requests before it has compiled what is worth it. */
const WARM_UP_MS = 5_000;
const CONNECTIONS = 8;
const PLACES = 12;
const FUNCTIONS = 20;

const isOutside = ({ where }: Spent): boolean => where === '(program)' || where === '(idle)';

function rowsOf(what: string, spent: readonly Spent[], answers: number): Row[] {
  const row = (where: string, name: string, micros: number): Row => ({
    what,
    where,
    function: name,
    'µs a request': (micros / answers).toFixed(1),
  });
  const inside = spent.filter((one) => !isOutside(one));
  const sum = (of: readonly Spent[]): number => of.reduce((micros, one) => micros + one.micros, 0);
  const places = [...Map.groupBy(inside, ({ where }) => where)]
    .map(([where, of]) => row(where, '', sum(of)))
    .toSorted((a, b) => Number(b['µs a request']) - Number(a['µs a request']));
  return [
    row('V8', '', sum(inside)),
    ...places.slice(0, PLACES),
    ...inside.slice(0, FUNCTIONS).map(({ where, name, micros }) => row(where, name, micros)),
  ];
}

async function profileOperation(
  { gateway }: GatewayStack,
  port: number,
  { what, expected, next, prepare }: Operation,
): Promise<Row[]> {
  await prepare?.();
  const spell = { connections: CONNECTIONS };
  await measureHttp(gateway.url, expected, next, { ...spell, warmUpMs: 0, measureMs: WARM_UP_MS });
  const profiler = await connectProfiler(port);
  let answers = 0;
  const profile = await profiler.profile(async () => {
    const measured = await measureHttp(gateway.url, expected, next, { ...spell, warmUpMs: 0 });
    ({ answers } = measured);
    if (measured.failed > 0) throw new Error(`${what}: ${measured.failed} were not answered as they should be`);
  });
  profiler.close();
  return rowsOf(what, spentIn(profile, gateway.script), answers);
}

export async function bench(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runtime of ['workerd', 'Deno'] as const) {
    const inspectorPort = await freePort();
    const stack = await startGatewayStack({ runtime, inspectorPort });
    try {
      for (const operation of stack.operations.filter(({ what }) => OPERATIONS.test(what)))
        for (const row of await profileOperation(stack, inspectorPort, operation))
          rows.push({ ...row, what: `${runtime}: ${row.what}` });
    } finally {
      await stack.stop();
    }
  }
  return rows;
}
