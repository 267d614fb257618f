// The gateway drops hop-by-hop headers, headers that identify the caller, and headers added by the proxies in front of
// the Manager. All other headers are forwarded unchanged.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { isProxyHeader } from '../../proxy-config/proxy-headers.ts'

const splitWords = (list: string): string[] => list.split(' ')
const hopByHop = splitWords(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade http2-settings expect ' +
    'proxy-authenticate proxy-authorization proxy-authentication-info',
)
const droppedToUpstream = new Set([...hopByHop, ...splitWords('host content-length authorization cookie')])
const droppedToCaller = new Set([...hopByHop, 'x-request-id'])

/**
 * Returns the caller's headers to forward to the upstream, as a flat list. `replaced` contains the names of additional
 * headers to drop.
 */
export function selectUpstreamHeaders(raw: readonly string[], replacedNames: ReadonlySet<string>): string[] {
  const connectionNames = readConnectionNames(raw)
  const forwardedHeaders: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    // Many servers treat an underscore as a hyphen.
    const normalizedName = name.toLowerCase().replaceAll('_', '-')
    if (
      droppedToUpstream.has(normalizedName) ||
      connectionNames.has(normalizedName) ||
      replacedNames.has(normalizedName) ||
      isProxyHeader(normalizedName)
    )
      continue
    forwardedHeaders.push(name, raw[i + 1] as string)
  }
  return forwardedHeaders
}

/** Returns the upstream's headers to forward to the caller. */
export function selectCallerHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const connectionNames = parseTokens([headers.connection ?? ''].flat().join(','))
  const forwardedHeaders: OutgoingHttpHeaders = {}
  for (const name of Object.keys(headers)) {
    const normalizedName = name.replaceAll('_', '-')
    if (!droppedToCaller.has(normalizedName) && !connectionNames.has(normalizedName))
      forwardedHeaders[name] = headers[name]
  }
  return forwardedHeaders
}

const noNames: ReadonlySet<string> = new Set()

/** Returns the header names that Connection headers list. */
function readConnectionNames(raw: readonly string[]): ReadonlySet<string> {
  let list = ''
  for (let i = 0; i < raw.length; i += 2)
    if ((raw[i] as string).length === 10 && (raw[i] as string).toLowerCase() === 'connection')
      list += `,${raw[i + 1]}`
  return parseTokens(list)
}

function parseTokens(list: string): ReadonlySet<string> {
  const text = list.toLowerCase()
  if (text === '' || text === ',keep-alive' || text === 'keep-alive' || text === ',close') return noNames
  return new Set(text.split(',').map((token) => token.trim().replaceAll('_', '-')))
}
