/** Numbers at random that are the same for the same seed. */

/** @returns a function for the next number, from 0 to 1, exclusive: Park–Miller, small, and the same everywhere */
export function randomFrom(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
