// Changes the responses to the requests of one operation, such as `tenantList`.
import type { APIResponse, Page, Route } from 'playwright-core'

/** Handles the requests of an operation until the returned function is called. Other requests are not changed. */
export async function onOperation(
  page: Page,
  operation: string,
  handle: (route: Route) => Promise<void>,
): Promise<() => Promise<void>> {
  const isWanted = new RegExp(`^(query|mutation) ${operation}\\b`)
  const handler = async (route: Route): Promise<void> => {
    const { query } = route.request().postDataJSON() as { query: string }
    await (isWanted.test(query) ? handle(route) : route.fallback())
  }
  await page.route('**/query', handler)
  return () => page.unroute('**/query', handler)
}

/** Sends the request of a page. The host name resolves only in the browser, so the request goes to 127.0.0.1. */
export function fetchFor(route: Route): Promise<APIResponse> {
  const url = new URL(route.request().url())
  const headers = { ...route.request().headers(), host: url.host }
  url.hostname = '127.0.0.1'
  return route.fetch({ url: url.href, headers })
}

/** Lets the Manager execute the request, and drops the connection before the response arrives. */
export async function dropResponse(route: Route): Promise<void> {
  await fetchFor(route)
  await route.abort('connectionreset')
}

/** Responds like the Manager when it temporarily rejects a request. */
export const rejectFor =
  (status: 429 | 503, seconds: number, code: 'rate_limited' | 'unavailable') =>
  (route: Route): Promise<void> =>
    route.fulfill({
      status,
      headers: { 'retry-after': String(seconds) },
      json: { errors: [{ message: 'try again later', extensions: { code } }], data: null },
    })

/** Responds like a proxy that redirects to its sign-in page. */
export const redirectToSignIn = (route: Route): Promise<void> =>
  route.fulfill({ status: 302, headers: { location: '/-/login' } })
