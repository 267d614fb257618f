// Addresses in the spellings that sockets take, read by ipaddr.js behind the checks of Node.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type IpAddress = ReturnType<typeof ipaddr.parse>

/**
 * The address without its zone, or null for what is none. Not the parser's own judgement: it also reads spellings that
 * no socket takes (0x7f.1), and takes ::a.b.c.d for ::ffff:a.b.c.d; a URL spells IPv6 in groups alone.
 */
export function parseAddress(text: string): IpAddress | null {
  const kind = isIP(text)
  if (kind === 0) return null
  if (kind === 4) return ipaddr.parse(text)
  const { hostname } = new URL(`http://[${text.split('%')[0]}]`)
  return ipaddr.parse(hostname.slice(1, -1))
}
