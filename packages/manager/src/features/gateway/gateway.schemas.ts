// This schema describes a call to an endpoint. It does not describe the content, which is defined by the
// caller and the partner.
import { Type } from 'typebox'
import { createErrorResponses } from '../../platform/http/http.schemas.ts'

export const callSchema = {
  operationId: 'callEndpoint',
  summary: 'Forwards the request to an endpoint and returns its response',
  description:
    'The route accepts any body and any method except CONNECT. The Manager returns the listed errors; the endpoint returns every other response.',
  tags: ['machines' as const],
  path: '/esb/{applicationId}/{endpointPath}',
  params: Type.Object({
    applicationId: Type.String({ description: 'The application, a UUID.' }),
    endpointPath: Type.String({ description: 'The path of the endpoint; it can contain slashes.' }),
  }),
  response: {
    ...createErrorResponses('error', 403, 404, 413, 502),
    default: Type.Unknown({ description: 'The response of the endpoint: its status, headers and body.' }),
  },
}
