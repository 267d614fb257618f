// What this process itself is built on; no outbound call goes there, whatever its purpose.
import { databaseHost } from '../db/addresses.ts'

export type OwnService = { host: string; port: number }

/** The database, Redis and the health port. */
export function ownServicesOf(addresses: {
  databaseUrl: string
  redisUrl: string
  healthHost: string
  healthPort: number
}): OwnService[] {
  const redis = new URL(addresses.redisUrl)
  return [
    databaseHost(addresses.databaseUrl),
    { host: redis.hostname, port: redis.port === '' ? 6379 : Number(redis.port) },
    { host: addresses.healthHost, port: addresses.healthPort },
    // A socket file is no host.
  ].filter(({ host }) => host !== '' && !host.startsWith('/'))
}
