// Reads the data that a frontend needs. A proxy serves it to the pages of an application.
import type { Connection } from './connection.ts'
import type {
  FrontendConfig as FrontendConfigAnswer,
  GetLanguagePackAnswer,
  PiletFeed as PiletFeedAnswer,
} from './generated/rest.ts'
import { type CamelCase, type Simplify, encodePath, toCamelCase } from './names.ts'
import { type CallOptions, sendForJson } from './request.ts'

export type FrontendConfig = Simplify<CamelCase<FrontendConfigAnswer['config']>> & {
  readonly projectId: string
}
export type LanguagePack = GetLanguagePackAnswer
export type PiletFeed = PiletFeedAnswer['items']

const fetchJson = <Body>(
  connection: Connection,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Body> => sendForJson<Body>(connection, { method: 'GET', path, signal })

/** Returns the effective settings of an application in a tenant. */
export async function frontendConfig(
  connection: Connection,
  { applicationId, tenantId }: { applicationId: string; tenantId: string },
  { signal }: CallOptions = {},
): Promise<FrontendConfig> {
  const path = `/api/frontend-config${encodePath([applicationId, tenantId])}`
  const { config, project_id } = await fetchJson<FrontendConfigAnswer>(connection, path, signal)
  return { ...toCamelCase(config), projectId: project_id }
}

/**
 * Returns the messages of a locale as nested objects. If the locale has no pack, returns the messages of its
 * language.
 */
export const languagePack = async (
  connection: Connection,
  { applicationId, locale }: { applicationId: string; locale: string },
  { signal }: CallOptions = {},
): Promise<LanguagePack> =>
  fetchJson(connection, `/language-packs${encodePath([applicationId, locale])}`, signal)

/** Returns the pilets of an application, or of a tenant that has its own address. */
export async function piletFeed(
  connection: Connection,
  { applicationId, tenantId }: { applicationId: string; tenantId?: string },
  { signal }: CallOptions = {},
): Promise<PiletFeed> {
  const path = `/pilet-feed${encodePath(tenantId === undefined ? [applicationId] : [applicationId, tenantId])}`
  return (await fetchJson<PiletFeedAnswer>(connection, path, signal)).items
}
