/** What a program of ours gets beside what it needs: where programs are, and what Node has compiled (global-setup.ts). */
export const BARE_ENV: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};
