// Pages that are loaded when they are opened. If the file of a page is missing, TanStack Router would reload the tab,
// which fails without a connection. The console shows a failure state with a reload button instead.
import { lazyRouteComponent as createLazyComponent } from '@tanstack/react-router'

/** The file of a page cannot be loaded: a newer version is installed, or there is no connection. */
export class MissingPageError extends Error {}

/** Browsers name the failed import of a module in different words; Vite names a missing style sheet. */
const missingFile = /dynamically imported module|importing a module script|unable to preload css/i

function rejectWithoutReload(cause: unknown): never {
  if (cause instanceof Error && missingFile.test(cause.message))
    throw new MissingPageError('the file of the page cannot be loaded', { cause })
  throw cause
}

export const lazyRouteComponent = <Page extends Record<string, unknown>, Name extends keyof Page>(
  load: () => Promise<Page>,
  name: Name,
) => createLazyComponent(() => load().catch(rejectWithoutReload), name)
