// What the proxy asks about deployments, and the responses.
import { Type } from 'typebox'
import { errorResponses } from '../../platform/http/http.schemas.ts'

const place = {
  app_id: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'The application, a UUID; a malformed one is answered like an unknown one.',
    }),
  ),
  env: Type.Optional(Type.String({ maxLength: 100, description: '`dev`, `qas` or `run`.' })),
}
const querystring = Type.Object(place)
const description =
  '`app_id` and `env` are in the query or in a JSON body. Every application has a deployment in each of the three environments.'

const placeBody = Type.Union([Type.Object(place), Type.Null()])

export const wakeSchema = {
  operationId: 'wakeDeployment',
  summary: 'Raises the replicas of a deployment to at least one',
  description: `${description} It is never lowered, and may be asked again. 409 without the flag \`scaleToZero\`, 502 when the orchestrator fails.`,
  tags: ['proxy' as const],
  querystring,
  body: placeBody,
  response: {
    202: Type.Object({
      success: Type.Literal(true),
      min_replicas: Type.Integer({ description: 'The least number of replicas from now on.' }),
      already_awake: Type.Boolean({ description: 'Whether there was nothing to raise.' }),
    }),
    ...errorResponses('error', 404, 409, 502),
  },
}

export const readySchema = {
  operationId: 'isDeploymentReady',
  summary: 'Whether a deployment has live backends',
  description,
  tags: ['proxy' as const],
  querystring,
  response: {
    200: Type.Object({
      ready: Type.Boolean(),
      backends: Type.Integer({ description: 'Backends with a fresh heartbeat, counted up to 1,000.' }),
      retry_after_ms: Type.Optional(Type.Integer({ description: 'When to ask again, if it is not ready.' })),
    }),
    ...errorResponses('error', 404, 413, 415),
  },
}

export const deploymentSchema = {
  operationId: 'getDeployment',
  summary: 'Whether a deployment may be scaled to zero, and how many of its backends are live',
  description,
  tags: ['proxy' as const],
  querystring,
  response: {
    200: Type.Object({
      scale_to_zero: Type.Boolean(),
      healthy_backends: Type.Integer({
        description: 'Backends with a fresh heartbeat, counted up to 1,000.',
      }),
    }),
    ...errorResponses('error', 404, 413, 415),
  },
}
