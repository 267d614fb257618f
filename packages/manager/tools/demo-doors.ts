// The hosts of the demo, all on one loopback port: the start page and two doors. Everyone who enters through a door is
// signed in as its person, so both doors can be open in one browser. A production proxy uses an identity provider.
import type { IncomingMessage } from 'node:http'
import { type Person, anna, ben } from './demo-people.ts'
import type { HostKind } from './demo-routes.ts'

export type Door = { kind: HostKind; person: Person }

const consoleDoor: Door = { kind: 'management', person: anna }
const shopDoor: Door = { kind: 'application', person: ben }
/** Maps host names to doors. Programs use 127.0.0.1, because not every resolver knows `console.localhost`. */
const doors: Readonly<Record<string, Door>> = {
  'console.localhost': consoleDoor,
  '127.0.0.1': consoleDoor,
  'shop.localhost': shopDoor,
}
const startHost = 'localhost'

export type Addresses = { start: string; console: string; shop: string; manager: string }
/** Returns the addresses of the demo on this port. */
export const createAddresses = (port: number): Addresses => ({
  start: `http://${startHost}:${port}`,
  console: `http://console.localhost:${port}`,
  shop: `http://shop.localhost:${port}`,
  manager: `http://127.0.0.1:${port}`,
})

/** Returns the door of a request, `start` for the start page, or null for an unknown host. */
export function findDoor({ headers: { host = '' } }: IncomingMessage, port: number): Door | 'start' | null {
  const end = `:${port}`
  if (!host.endsWith(end)) return null
  const name = host.slice(0, -end.length)
  return name === startHost ? 'start' : Object.hasOwn(doors, name) ? (doors[name] ?? null) : null
}

/** Returns whether the cookie identifies the person of the door. The cookie contains no secret: anyone may enter. */
export const isSignedIn = ({ headers: { cookie = '' } }: IncomingMessage, { person }: Door): boolean =>
  cookie.split(/; */).includes(`demo_person=${person.key}`)

/**
 * Returns the cookie that signs a person in, or the cookie that signs out if `person` is null. The start page is on a
 * different site than the doors, so a browser would not send a strict cookie when the user follows a link to a door.
 */
export const createSessionCookie = (person: Person | null): string =>
  `demo_person=${person?.key ?? ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${person === null ? 0 : 86_400}`
