// Data that a frontend is assembled from. A proxy serves it to the pages of an application.
import type { Connection } from './connection.ts'
import type {
  FrontendConfig as FrontendConfigAnswer,
  GetLanguagePackAnswer,
  PiletFeed as PiletFeedAnswer,
} from './generated/rest.ts'
import { type CamelCase, type Plain, pathOf, toCamelCase } from './names.ts'
import { type CallOptions, sendForJson } from './request.ts'

export type FrontendConfig = Plain<CamelCase<FrontendConfigAnswer['config']>> & { readonly projectId: string }
export type LanguagePack = GetLanguagePackAnswer
export type PiletFeed = PiletFeedAnswer['items']

const get = <Body>(connection: Connection, path: string, signal: AbortSignal | undefined): Promise<Body> =>
  sendForJson<Body>(connection, { method: 'GET', path, signal })

/** Returns the effective settings of an application in a tenant. */
export async function frontendConfig(
  connection: Connection,
  { applicationId, tenantId }: { applicationId: string; tenantId: string },
  { signal }: CallOptions = {},
): Promise<FrontendConfig> {
  const path = `/api/frontend-config${pathOf([applicationId, tenantId])}`
  const { config, project_id } = await get<FrontendConfigAnswer>(connection, path, signal)
  return { ...toCamelCase(config), projectId: project_id }
}

/** Returns the messages of a locale as nested objects, or those of its language if the locale has no pack. */
export const languagePack = async (
  connection: Connection,
  { applicationId, locale }: { applicationId: string; locale: string },
  { signal }: CallOptions = {},
): Promise<LanguagePack> => get(connection, `/language-packs${pathOf([applicationId, locale])}`, signal)

/** Returns the pilets of an application, or those of a tenant with its own address. */
export async function piletFeed(
  connection: Connection,
  { applicationId, tenantId }: { applicationId: string; tenantId?: string },
  { signal }: CallOptions = {},
): Promise<PiletFeed> {
  const path = `/pilet-feed${pathOf(tenantId === undefined ? [applicationId] : [applicationId, tenantId])}`
  return (await get<PiletFeedAnswer>(connection, path, signal)).items
}
