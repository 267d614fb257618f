// Changes what a page gets for the requests of one operation, such as `tenantList`.
import type { APIResponse, Page, Route } from 'playwright-core'

/** Handles the requests of an operation until the returned function is called. All others pass. */
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

/** Sends the request of a page. Outside of the browser, no name server knows the host. */
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

/** Answers as the Manager does when it rejects a request for a while. */
export const rejectFor =
  (status: 429 | 503, seconds: number, code: 'rate_limited' | 'unavailable') =>
  (route: Route): Promise<void> =>
    route.fulfill({
      status,
      headers: { 'retry-after': String(seconds) },
      json: { errors: [{ message: 'try again later', extensions: { code } }], data: null },
    })

/** Answers as a proxy that redirects to its sign-in page. */
export const redirectToSignIn = (route: Route): Promise<void> =>
  route.fulfill({ status: 302, headers: { location: '/-/login' } })
