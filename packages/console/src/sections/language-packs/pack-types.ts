import type { PackListResult } from '../../generated/documents.ts'

export type Pack = PackListResult['languagePacksConnection']['nodes'][number]
/** The stored translations of a pack, by key. */
export type Content = { readonly revision: number; readonly values: ReadonlyMap<string, string> }
/** Contents by pack id. Packs without an entry are still loading. */
export type Contents = ReadonlyMap<string, Content>
