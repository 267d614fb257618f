// Which page a browser's request is from. Browsers let every page open sockets and send requests to any host, with the
// cookies of that host, and say in headers which page it is.
import type { IncomingMessage } from 'node:http'
import { singleHeader } from './headers.ts'

const originForm = /^(https?):\/\/[^/?#@\s\\]+$/i
const hostForm = /^[a-z0-9._~-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/i

/**
 * Whether the request has no Origin, or one of the host that it was sent to: as the proxy forwards it, if the request came
 * through the proxy, or else as its Host. Sent more than once, a header names no host.
 */
export function isOfOwnHost(request: IncomingMessage, cameThroughProxy: boolean): boolean {
  const origin = singleHeader(request, 'origin')
  // An empty one is sent by nobody we know.
  if (origin === null) return request.headers.origin === undefined
  const [, scheme] = origin === 'repeated' ? [] : (originForm.exec(origin.value) ?? [])
  if (origin === 'repeated' || scheme === undefined) return false
  const forwarded = cameThroughProxy ? singleHeader(request, 'x-forwarded-host') : null
  const host = forwarded ?? singleHeader(request, 'host')
  if (host === null || host === 'repeated' || !hostForm.test(host.value.trim())) return false
  // Both through the same parser: it drops the scheme's own port, and knows one spelling of each host.
  const [own, page] = [URL.parse(`${scheme}://${host.value.trim()}`), URL.parse(origin.value)]
  return own !== null && page !== null && own.host === page.host
}

/**
 * Whether the request is from a page of this host, or from no page. Current browsers say it themselves, whatever host the
 * proxy forwards; for the others their Origin decides.
 */
export function isFromOwnPage(request: IncomingMessage, cameThroughProxy: boolean): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return isOfOwnHost(request, cameThroughProxy)
}
