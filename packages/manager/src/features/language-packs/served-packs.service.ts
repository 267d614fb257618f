// What a frontend loads in its language: a pack as bytes, made once per version of the project.
import { createBatchedRead } from '../../platform/db/batched-read.ts'
import type { Database } from '../../platform/db/database.ts'
import type { ReadProjectVersion } from '../../platform/db/project-version.ts'
import { notFound } from '../../platform/errors.ts'
import { type Built, createFreshMemory } from '../../platform/fresh-memory.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type ServedPack, type WantedPack, readServedPacks } from './language-packs.store.ts'
import { expandMessages, isLocale, localesFor } from './messages.ts'

export type ServedPacksDeps = {
  database: Database
  readVersion: ReadProjectVersion
  prepare: (answer: object) => PreparedAnswer
  maxBytes: number
  metrics: Metrics
}
export type ServedPacks = ReturnType<typeof createServedPacks>
type PreparedAnswer = { body: Buffer; etag: string }
type Kept = Built & { answer: PreparedAnswer | null }

// A pack may have megabytes.
const maxPacksAtOnce = 16

/** A function that answers a pack's bytes; throws 404 where there is none in the locale or its language. */
export function createServedPacks(deps: ServedPacksDeps) {
  const readPack = createBatchedRead<WantedPack, ServedPack>({
    keyOf,
    read: (wanted) => readServedPacks(deps.database.read, wanted),
    maxBatch: maxPacksAtOnce,
  })
  const find = createFreshMemory<WantedPack, Kept>({
    nameOf: keyOf,
    readVersion: deps.readVersion,
    maxBytes: deps.maxBytes,
    onOutcome: (outcome) => deps.metrics.prepared.inc({ answer: 'language_pack', outcome }),
    build: async (wanted) => {
      const row = await readPack(wanted)
      if (row === null) return null
      const { projectId, version, name, content } = row
      const answer =
        name === null ? null : deps.prepare({ locale: name, messages: expandMessages(content ?? []) })
      return { projectId, version, answer, bytes: answer?.body.length ?? 0 }
    },
  })
  return async (application: string, locale: string): Promise<PreparedAnswer> => {
    const applicationId = parseUuid(application)
    const kept =
      applicationId === null || !isLocale(locale)
        ? null
        : await find({ applicationId, locales: localesFor(locale) })
    if (kept?.answer) return kept.answer
    throw notFound('language pack')
  }
}

const keyOf = ({ applicationId, locales }: WantedPack): string =>
  `${applicationId} ${locales[0]?.toLowerCase()}`
