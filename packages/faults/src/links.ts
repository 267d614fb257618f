// The links of a replica to its engines, which a row breaks.
import { type FaultProxy, startFaultProxy } from './engines/fault-proxy.ts'
import type { Engines } from './cluster.ts'

/** What a replica reaches its engines through; Redis only when it is a single one. */
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

/** The addresses of the engines, as a replica has them that uses these links. */
export const throughLinks = ({ postgres, redis }: Links, urls: Urls): Urls => ({
  databaseUrl: through(urls.databaseUrl, postgres),
  redisUrl: through(urls.redisUrl, redis),
})
