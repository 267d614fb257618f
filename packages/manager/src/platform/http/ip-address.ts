// Parses IP addresses with ipaddr.js, but accepts only the spellings that Node accepts.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A parsed IPv4 or IPv6 address. */
export type IpAddress = ReturnType<typeof ipaddr.parse>

/**
 * Returns the address without its zone, or null if the text is not an address. Node validates the text, because
 * ipaddr.js accepts spellings that no socket accepts (0x7f.1). It also reads ::a.b.c.d as ::ffff:a.b.c.d, so `URL`
 * rewrites IPv6 addresses as hexadecimal groups first.
 */
export function parseAddress(text: string): IpAddress | null {
  const family = isIP(text)
  if (family === 0) return null
  if (family === 4) return ipaddr.parse(text)
  const { hostname } = new URL(`http://[${text.split('%')[0]}]`)
  return ipaddr.parse(hostname.slice(1, -1))
}
