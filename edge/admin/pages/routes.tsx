/** The console's pages as a table of contents. */
import type { Surface } from '../../http/surface.ts';
import type { Console } from './context.ts';
import { addKeyPages } from './key-routes.tsx';
import { addMessagePages } from './message-routes.tsx';
import { addOverview } from './overview-routes.tsx';
import { addWorkbench } from './workbench-routes.tsx';

export function addPages(app: Surface, console: Console): void {
  addOverview(app, console);
  addKeyPages(app, console);
  addMessagePages(app, console);
  addWorkbench(app, console);
}
