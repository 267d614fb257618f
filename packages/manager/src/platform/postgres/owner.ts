// On whose account statements run. Requests of one project that wait for a lock of its own, such as the head of its audit
// chain, each hold a connection; so connections are shared between projects, and each request says for which one it works.
import { AsyncLocalStorage } from 'node:async_hooks'

/** Whom a request works for: a project, or the caller or its network as long as no project is known. */
export type Owned = { caller: string; projectId: string | null }

/** Whom statements outside of requests count for. No header has this value. */
export const service = '\0service'

const current = new AsyncLocalStorage<Owned>()

/** Runs a part of a request; its statements count for whom it works. */
export const runOwned = <T>(request: Owned, run: () => T): T => current.run(request, run)

/** Names the caller of the running request, once the caller is known. */
export function setCaller(userId: string): void {
  const request = current.getStore()
  if (request !== undefined) request.caller = userId
}

/** Runs work that several requests share; its statements count for the service. */
export const runShared = <T>(run: () => T): T => current.exit(run)

/** Names the project that the running request works for. The first project counts. */
export function setOwner(projectId: string): void {
  const request = current.getStore()
  if (request !== undefined) request.projectId ??= projectId
}

/** Whom the running request works for; `other` outside of requests. */
export function currentOwner(other = service): string {
  const request = current.getStore()
  return request === undefined ? other : (request.projectId ?? request.caller)
}
