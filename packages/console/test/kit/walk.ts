// Navigates in the console without reloading it, and waits until a page is complete.
import type { Page, Request } from 'playwright-core'
import type { Visit } from './scene.ts'

export type Walk = {
  /** Opens an address below /console. Loads the console only if it is not open yet. */
  go: (path: string) => Promise<void>
  /** Waits until no request is open, the address is shown, and nothing is loading. */
  settle: () => Promise<void>
}

const limitMs = 60_000
/** The browser does not always report the end of a request that the page has aborted, so older requests do not count. */
const longestRequestMs = 30_000
/** The page must be complete in this many checks in a row, because a response can start further requests. */
const quietChecks = 2

export function createWalk({ page, open }: Pick<Visit, 'page' | 'open'>): Walk {
  const pending = new Map<Request, number>()
  const countPending = (): number =>
    [...pending.values()].filter((startedAt) => Date.now() - startedAt < longestRequestMs).length
  page.on('request', (request) => pending.set(request, Date.now()))
  page.on('requestfinished', (request) => pending.delete(request))
  page.on('requestfailed', (request) => pending.delete(request))
  const settle = async (): Promise<void> => {
    const endsAt = Date.now() + limitMs
    for (let quiet = 0; quiet < quietChecks;) {
      // A page cannot be inspected while it is being replaced.
      const isComplete = await hasContent(page).catch(() => false)
      quiet = countPending() === 0 && isComplete ? quiet + 1 : 0
      if (Date.now() > endsAt)
        throw new Error(
          `${page.url()} is still loading: ${[...pending.keys()].map((request) => request.postData() ?? request.url()).join('\n')}`,
        )
    }
  }
  const go = async (path: string): Promise<void> => {
    if (page.url() === 'about:blank') await open(path)
    else await page.evaluate((address) => history.pushState(null, '', address), `/console${path}`)
    await settle()
  }
  return { go, settle }
}

/** Returns whether the router shows the address and no part of the page is loading. */
const hasContent = (page: Page): Promise<boolean> =>
  page.evaluate(async () => {
    type Router = { state: { status: string; location: Address; resolvedLocation?: Address } }
    type Address = { href: string }
    await new Promise((resolve) => setTimeout(resolve, 20))
    const { state } = (globalThis as unknown as Record<'__TSR_ROUTER__', Router>)['__TSR_ROUTER__']
    return (
      state.status === 'idle' &&
      state.location.href === state.resolvedLocation?.href &&
      document.querySelector('main') !== null &&
      document.querySelector('.skeleton, .skeleton-bar, .cell-skeleton') === null
    )
  })
