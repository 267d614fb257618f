// The endpoint data of a call is cached under the version of the project's endpoints. The version is read
// together with the caller's token. A changed endpoint, access row or secret therefore applies to every call
// that starts after the change is confirmed. With a warm cache, a call reads only its token.
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type BuiltValue, createVersionedCache } from '../../platform/cache/versioned-cache.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { type TargetKey, type TargetRow, readTargets } from './targets.store.ts'

export type TargetsDeps = {
  database: Pick<Database, 'run'>
  secrets: Secrets
  metrics: Metrics
  maxBytes: number
}
export type Target = BuiltValue &
  Omit<TargetRow, 'authPassword' | 'authToken' | 'url'> & {
    /** The stored target URL of calls, or null if none is set. */
    upstream: { url: string; origin: string; path: string } | null
    /** The Authorization header of the forwarded request, or null for none. */
    authorization: string | null
  }

// A template can be up to 64 KiB.
const maxTargetsPerStatement = 32
const fixedBytes = 4_000

/**
 * Finds the enabled endpoint that a machine user calls. `version` is the version of the project's endpoints, read after
 * the call arrived.
 */
export function createTargetFinder({ database, secrets, metrics, maxBytes }: TargetsDeps) {
  const readTarget = createCoalescer<TargetKey, TargetRow>({
    getKey: nameOf,
    run: (keys) => readTargets(database.run, keys),
    maxBatch: maxTargetsPerStatement,
  })
  return createVersionedCache<TargetKey & { version: string }, Target>({
    nameOf,
    readVersion: (_projectId, key) => key.version,
    maxBytes,
    onOutcome: metrics.cacheCounter('esb_target'),
    build: async (key) => {
      const row = await readTarget(key)
      if (row === null) return null
      const { authPassword: _password, authToken: _token, url, ...rest } = row
      return {
        ...rest,
        projectId: key.projectId,
        upstream: url === null ? null : parseUpstream(url),
        authorization: buildAuthorization(row, secrets),
        bytes: fixedBytes + 2 * row.transformationTemplate.length,
      }
    },
  })
}

/** Builds the cache key. The path is last, because it can contain any character. */
const nameOf = ({ applicationId, machineUserId, path }: TargetKey): string =>
  `${machineUserId}${applicationId}${path}`

/** Splits the URL. The path is the stored string, not the result of a URL parser. */
function parseUpstream(url: string): Target['upstream'] {
  const path = url.replace(/^https?:\/\/[^/?]*/i, '')
  return { url, origin: new URL(url).origin, path: path.startsWith('/') ? path : `/${path}` }
}

function buildAuthorization(row: TargetRow, secrets: Secrets): string | null {
  const open = (sealed: Buffer | null, column: string): string =>
    sealed === null ? '' : secrets.open(sealed, { table: 'endpoints', column, id: row.id })
  if (row.authType === 'Bearer') return `Bearer ${encodeHeaderText(open(row.authToken, 'auth_token'))}`
  if (row.authType !== 'Basic') return null
  const pair = `${row.authUsername}:${open(row.authPassword, 'auth_password')}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

/** Encodes text for a header. Headers contain bytes, so non-ASCII characters are sent as UTF-8. */
const encodeHeaderText = (text: string): string => Buffer.from(text).toString('latin1')
