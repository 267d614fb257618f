// Determines which page sent a request. Browsers let every page open sockets and send requests to any host, with the
// cookies of that host, and identify the page in headers.
import type { IncomingMessage } from 'node:http'
import { singleHeader } from './headers.ts'

const originForm = /^(https?):\/\/[^/?#@\s\\]+$/i
const hostForm = /^[a-z0-9._~-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i

/**
 * Whether the request has no Origin, or that of the host it was sent to. The host is the forwarded one if the request
 * came through the proxy, otherwise the Host header. A repeated header is never accepted.
 */
export function isSameHost(request: IncomingMessage, cameThroughProxy: boolean): boolean {
  const origin = singleHeader(request, 'origin')
  // No known client sends an empty Origin.
  if (origin === null) return request.headers.origin === undefined
  const [, scheme] = origin === 'repeated' ? [] : (originForm.exec(origin.value) ?? [])
  if (origin === 'repeated' || scheme === undefined) return false
  const forwarded = cameThroughProxy ? singleHeader(request, 'x-forwarded-host') : null
  const host = forwarded ?? singleHeader(request, 'host')
  if (host === null || host === 'repeated' || !hostForm.test(host.value.trim())) return false
  // Both values pass the same parser, which drops the default port of the scheme and normalizes the host.
  const [own, page] = [URL.parse(`${scheme}://${host.value.trim()}`), URL.parse(origin.value)]
  return own !== null && page !== null && own.host === page.host
}

/**
 * Whether the request is from a page of this host, or not from a page at all. Current browsers send Sec-Fetch-Site,
 * whatever host the proxy forwards; for older browsers the Origin decides.
 */
export function isSameOriginRequest(request: IncomingMessage, cameThroughProxy: boolean): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return isSameHost(request, cameThroughProxy)
}
