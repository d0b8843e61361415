/** The sidecar's metrics as numbers. */

/** @returns `name{label="value"}` to its value, as Prometheus would read them */
export async function sidecarMetrics(healthPort: number): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`http://127.0.0.1:${healthPort}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}
