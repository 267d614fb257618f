// The hop count prevents an endless loop: an endpoint that leads back to the gateway would call itself. The count is in
// the Manager's own header. Callers can send the header, but only to raise the count.

const name = 'x-svc-hops'
const maxHops = 5

/**
 * Returns the header for the forwarded call, or null if the call has too many hops. `raw` is the flat list of received
 * headers.
 */
export function nextHop(raw: readonly string[]): [name: string, value: string] | null {
  let hops = 0
  for (let i = 0; i < raw.length; i += 2)
    if ((raw[i] as string).length === name.length && isHopHeader(raw[i] as string))
      hops = Math.max(hops, countOf(raw[i + 1] as string))
  return hops < maxHops ? ['X-SVC-Hops', String(hops + 1)] : null
}

const isHopHeader = (header: string): boolean => header.toLowerCase().replaceAll('_', '-') === name

/** Treats a malformed hop count as the maximum. */
const countOf = (value: string): number => (/^\d$/.test(value) ? Number(value) : maxHops)
