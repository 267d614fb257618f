import type { Actor } from '../../policy/actor.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { badRequest, orNotFound } from '../../platform/errors.ts'
import type { ApplicationsApi } from '../applications/index.ts'
import * as store from './endpoints.store.ts'
import type { TransformationsApi } from '../transformations/index.ts'

export type PreviewDeps = {
  db: Db
  clock: Clock
  applications: ApplicationsApi
  transformations: TransformationsApi
}
export type PreviewService = ReturnType<typeof createPreviewService>

/** Previews the transformation of a body without sending the result. */
export function createPreviewService({ db, clock, applications, transformations }: PreviewDeps) {
  return {
    preview: async (
      actor: Actor,
      endpointId: string,
      input: { readonly body: string; readonly transformationTemplate?: string | null },
    ) => {
      const endpoint = orNotFound((await store.findEndpoints(db.read, [endpointId]))[0], 'endpoint')
      const storedTemplates = await store.findTemplates(db.read, [endpointId])
      const template = input.transformationTemplate ?? storedTemplates.get(endpointId) ?? ''
      if (template === '')
        throw badRequest(
          'the endpoint has no transformationTemplate, so bodies are forwarded unchanged; pass transformationTemplate',
          'input.transformationTemplate',
        )
      const problem = transformations.findProblem(template)
      if (problem !== null) throw badRequest(problem, 'input.transformationTemplate')
      const [application] = await applications.findMany([endpoint.applicationId])
      const { id, externalUsername: username, externalName: name } = actor.user
      return transformations.preview({
        ...endpoint,
        template,
        body: Buffer.from(input.body),
        application: orNotFound(application, 'application'),
        endpoint,
        user: { id, username, name },
        at: clock.now(),
      })
    },
  }
}
