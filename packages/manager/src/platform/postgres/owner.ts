// Tracks the owner of statements. Requests of one project that wait for a lock, such as the head of its audit chain,
// each hold a connection. Connections are therefore divided between projects, and each request declares its project.
import { AsyncLocalStorage } from 'node:async_hooks'

/** The owner of a request: its project, or, until the project is known, the caller or the caller's network. */
export type RequestOwner = { caller: string; projectId: string | null }

/** The owner of statements outside of requests. No header can have this value. */
export const serviceOwner = '\0service'

const requestStorage = new AsyncLocalStorage<RequestOwner>()

/** Runs a part of a request; its statements are charged to the owner of the request. */
export const runAsOwner = <T>(request: RequestOwner, run: () => T): T => requestStorage.run(request, run)

/** Sets the caller of the current request once it is known. */
export function setCaller(userId: string): void {
  const request = requestStorage.getStore()
  if (request !== undefined) request.caller = userId
}

/** Runs work that several requests share; its statements are charged to the service. */
export const runShared = <T>(run: () => T): T => requestStorage.exit(run)

/** Sets the project of the current request. Only the first call has an effect. */
export function setOwner(projectId: string): void {
  const request = requestStorage.getStore()
  if (request !== undefined) request.projectId ??= projectId
}

/** Returns the owner of the current request, or `fallback` outside of requests. */
export function getCurrentOwner(fallback = serviceOwner): string {
  const request = requestStorage.getStore()
  return request === undefined ? fallback : (request.projectId ?? request.caller)
}
