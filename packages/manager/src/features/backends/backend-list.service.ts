// The backends as operators list them. Nothing of a callback URL but its host is shown, and never a token.
import type { Db } from '../../platform/postgres/handles.ts'
import * as store from './liveness.store.ts'

type Shown = Omit<store.ListedBackend, 'callbackUrl'> & { callbackHost: string }

/** The registered backends by project, application and environment, at most so many; throws for an unknown project. */
export async function listBackends(
  db: Db,
  options: { projectSlug: string | null; staleAfterMs: number; limit: number },
): Promise<Shown[]> {
  const { projectSlug: slug } = options
  const projectId = slug === null ? null : await store.findProjectId(db.read, slug)
  if (projectId === undefined) throw new Error(`no project has the slug ${slug}`)
  const found = await store.listBackends(db.read, projectId, options)
  return found.map(({ callbackUrl, ...backend }) => ({
    ...backend,
    callbackHost: new URL(callbackUrl).host,
  }))
}
