// Lists backends for operators. The list contains only the host of each callback URL, and never a token.
import type { Db } from '../../platform/postgres/handles.ts'
import * as store from './liveness.store.ts'

type BackendSummary = Omit<store.ListedBackend, 'callbackUrl'> & { callbackHost: string }

/** Returns at most `limit` backends, ordered by project, application and environment. Throws for an unknown project. */
export async function listBackends(
  db: Db,
  options: { projectSlug: string | null; staleAfterMs: number; limit: number },
): Promise<BackendSummary[]> {
  const { projectSlug: slug } = options
  const projectId = slug === null ? null : await store.findProjectId(db.read, slug)
  if (projectId === undefined) throw new Error(`no project has the slug ${slug}`)
  const backends = await store.listBackends(db.read, projectId, options)
  return backends.map(({ callbackUrl, ...backend }) => ({
    ...backend,
    callbackHost: new URL(callbackUrl).host,
  }))
}
