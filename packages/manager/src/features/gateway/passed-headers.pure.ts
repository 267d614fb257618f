// Which headers pass. Headers of one connection, headers that identify a caller, and headers added by the proxies that
// forwarded the request to us stay here; the rest goes through unchanged.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { isProxyHeader } from '../../proxy-config/proxy-headers.ts'

const words = (list: string): string[] => list.split(' ')
const hopByHop = words(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade http2-settings expect ' +
    'proxy-authenticate proxy-authorization proxy-authentication-info',
)
const notToUpstream = new Set([...hopByHop, ...words('host content-length authorization cookie')])
const notToCaller = new Set([...hopByHop, 'x-request-id'])

/**
 * The caller's headers that the upstream gets; flat, as they came. `replaced` are names of headers to leave out too.
 */
export function headersToUpstream(raw: readonly string[], replaced: ReadonlySet<string>): string[] {
  const named = namedIn(raw)
  const passed: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    // Many servers read an underscore as a hyphen.
    const plain = name.toLowerCase().replaceAll('_', '-')
    if (notToUpstream.has(plain) || named.has(plain) || replaced.has(plain) || isProxyHeader(plain)) continue
    passed.push(name, raw[i + 1] as string)
  }
  return passed
}

/** The upstream's headers that the caller gets. */
export function headersToCaller(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = tokensOf([headers.connection ?? ''].flat().join(','))
  const passed: OutgoingHttpHeaders = {}
  for (const name of Object.keys(headers)) {
    const plain = name.replaceAll('_', '-')
    if (!notToCaller.has(plain) && !named.has(plain)) passed[name] = headers[name]
  }
  return passed
}

const none: ReadonlySet<string> = new Set()

/** The names listed in Connection headers. */
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
