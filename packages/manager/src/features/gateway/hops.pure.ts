// How often a call has passed a gateway: an endpoint that leads back here, on any way, would call itself without end.
// The count is in our own header. Callers may send it, but can only raise the count with it.

const name = 'x-svc-hops'
const maxHops = 5

/** What a call is forwarded with; null when it has passed too often. Headers are flat, as they came. */
export function nextHop(raw: readonly string[]): [name: string, value: string] | null {
  let hops = 0
  for (let i = 0; i < raw.length; i += 2)
    if ((raw[i] as string).length === name.length && isOurs(raw[i] as string))
      hops = Math.max(hops, countOf(raw[i + 1] as string))
  return hops < maxHops ? ['X-SVC-Hops', String(hops + 1)] : null
}

const isOurs = (header: string): boolean => header.toLowerCase().replaceAll('_', '-') === name

/** What is no count of ours is the most there can be. */
const countOf = (value: string): number => (/^\d$/.test(value) ? Number(value) : maxHops)
