// The gateway drops hop-by-hop headers, headers that identify the caller, and headers added by the proxies in front of
// the Manager. All other headers are forwarded unchanged.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { isProxyHeader } from '../../proxy-config/proxy-headers.ts'

const words = (list: string): string[] => list.split(' ')
const hopByHop = words(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade http2-settings expect ' +
    'proxy-authenticate proxy-authorization proxy-authentication-info',
)
const droppedToUpstream = new Set([...hopByHop, ...words('host content-length authorization cookie')])
const droppedToCaller = new Set([...hopByHop, 'x-request-id'])

/**
 * Returns the caller's headers for the upstream, as a flat list. `replaced` contains the names of further headers to
 * drop.
 */
export function headersToUpstream(raw: readonly string[], replaced: ReadonlySet<string>): string[] {
  const named = namedIn(raw)
  const passed: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    // Many servers treat an underscore as a hyphen.
    const plain = name.toLowerCase().replaceAll('_', '-')
    if (droppedToUpstream.has(plain) || named.has(plain) || replaced.has(plain) || isProxyHeader(plain))
      continue
    passed.push(name, raw[i + 1] as string)
  }
  return passed
}

/** Returns the upstream's headers for the caller. */
export function headersToCaller(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = tokensOf([headers.connection ?? ''].flat().join(','))
  const passed: OutgoingHttpHeaders = {}
  for (const name of Object.keys(headers)) {
    const plain = name.replaceAll('_', '-')
    if (!droppedToCaller.has(plain) && !named.has(plain)) passed[name] = headers[name]
  }
  return passed
}

const none: ReadonlySet<string> = new Set()

/** Returns the names that Connection headers list. */
function namedIn(raw: readonly string[]): ReadonlySet<string> {
  let list = ''
  for (let i = 0; i < raw.length; i += 2)
    if ((raw[i] as string).length === 10 && (raw[i] as string).toLowerCase() === 'connection')
      list += `,${raw[i + 1]}`
  return tokensOf(list)
}

function tokensOf(list: string): ReadonlySet<string> {
  const text = list.toLowerCase()
  if (text === '' || text === ',keep-alive' || text === 'keep-alive' || text === ',close') return none
  return new Set(text.split(',').map((token) => token.trim().replaceAll('_', '-')))
}
