// Determines which page sent a request. Browsers let every page open sockets and send requests to any host, with the
// cookies of that host, and identify the page in headers.
import type { IncomingMessage } from 'node:http'
import { readSingleHeader } from './headers.ts'

const originPattern = /^(https?):\/\/[^/?#@\s\\]+$/i
const hostPattern = /^[a-z0-9._~-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i

/**
 * Whether the request has no Origin, or an Origin that matches the host it was sent to. The host is the
 * forwarded host if the request came through the proxy, otherwise the Host header. A repeated header is never
 * accepted.
 */
export function isSameHost(request: IncomingMessage, cameThroughProxy: boolean): boolean {
  const origin = readSingleHeader(request, 'origin')
  // An empty Origin is rejected, because no known client sends one.
  if (origin === null) return request.headers.origin === undefined
  const [, scheme] = origin === 'repeated' ? [] : (originPattern.exec(origin.value) ?? [])
  if (origin === 'repeated' || scheme === undefined) return false
  const forwardedHost = cameThroughProxy ? readSingleHeader(request, 'x-forwarded-host') : null
  const host = forwardedHost ?? readSingleHeader(request, 'host')
  if (host === null || host === 'repeated' || !hostPattern.test(host.value.trim())) return false
  // Both values pass the same parser, which drops the default port of the scheme and normalizes the host.
  const [ownUrl, pageUrl] = [URL.parse(`${scheme}://${host.value.trim()}`), URL.parse(origin.value)]
  return ownUrl !== null && pageUrl !== null && ownUrl.host === pageUrl.host
}

/**
 * Whether the request is from a page of this host, or not from a page at all. Current browsers send
 * Sec-Fetch-Site, which does not depend on the forwarded host. For older browsers, the Origin is compared
 * with the host.
 */
export function isSameOriginRequest(request: IncomingMessage, cameThroughProxy: boolean): boolean {
  const fetchSite = request.headers['sec-fetch-site']
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none'
  return isSameHost(request, cameThroughProxy)
}
