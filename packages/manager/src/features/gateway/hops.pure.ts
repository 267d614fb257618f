// The hop count prevents endless loops, in which an endpoint forwards calls back to the gateway. The count is in a
// header of the Manager. Callers can send this header too, but can only raise the count.

const headerName = 'x-svc-hops'
const maxHops = 5

/**
 * Returns the header for the forwarded call, or null if the call has too many hops. `raw` is the flat list of received
 * headers.
 */
export function buildHopHeader(raw: readonly string[]): [name: string, value: string] | null {
  let hops = 0
  for (let i = 0; i < raw.length; i += 2)
    if ((raw[i] as string).length === headerName.length && isHopHeader(raw[i] as string))
      hops = Math.max(hops, parseHopCount(raw[i + 1] as string))
  return hops < maxHops ? ['X-SVC-Hops', String(hops + 1)] : null
}

const isHopHeader = (header: string): boolean => header.toLowerCase().replaceAll('_', '-') === headerName

/** Treats a malformed hop count as the maximum. */
const parseHopCount = (value: string): number => (/^\d$/.test(value) ? Number(value) : maxHops)
