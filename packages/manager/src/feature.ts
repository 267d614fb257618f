// What every feature hands to app.ts.
import type { RoleName } from './config-readers.ts'
import type { ConstraintMeanings } from './platform/db/db-errors.ts'
import type { ResolverMap } from './platform/graphql/schema.ts'
import type { ApiServer } from './platform/http/declarations.ts'
import type { PeriodicJob } from './platform/periodic.ts'

export type Feature<Api = unknown> = {
  name: string
  sdl?: string
  resolvers?: ResolverMap
  /** The role of the processes that serve its routes; without it every process does. */
  role?: RoleName
  /** Registers the feature's REST routes; each declares its policy. */
  routes?: (server: ApiServer) => void
  jobs?: PeriodicJob[]
  /** What a violation of one of the feature's own constraints means to a caller. */
  constraints?: ConstraintMeanings
  /** Lets go of timers and threads, and writes what is still held back; called once no request is under way. */
  close?: () => Promise<void>
  /** The handful of functions other features may call. */
  api: Api
}
