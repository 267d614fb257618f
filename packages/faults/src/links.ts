// The links from a replica to PostgreSQL and Redis, which a scenario can break.
import { type FaultProxy, startFaultProxy } from './engines/fault-proxy.ts'
import type { Engines } from './cluster.ts'

/** The fault proxies between a replica and its servers. `redis` is null if Redis runs with Sentinel. */
export type Links = { postgres: FaultProxy; redis: FaultProxy | null }
type Urls = Pick<Engines, 'databaseUrl' | 'redisUrl'>

/** Opens the links of one replica. */
export async function openLinks(urls: Urls, folder: string, withRedis: boolean): Promise<Links> {
  const open = (url: string): Promise<FaultProxy> => {
    const { hostname, port } = new URL(url)
    return startFaultProxy(folder, { host: hostname, port: Number(port) })
  }
  const postgres = await open(urls.databaseUrl)
  return { postgres, redis: withRedis ? await open(urls.redisUrl) : null }
}

function through(url: string, proxy: FaultProxy | null): string {
  const changed = new URL(url)
  if (proxy !== null) changed.port = String(proxy.port)
  return changed.href
}

/** Returns the PostgreSQL and Redis URLs for a replica that uses these links. */
export const throughLinks = ({ postgres, redis }: Links, urls: Urls): Urls => ({
  databaseUrl: through(urls.databaseUrl, postgres),
  redisUrl: through(urls.redisUrl, redis),
})
