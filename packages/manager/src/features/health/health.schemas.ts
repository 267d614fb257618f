// Every client gets the status; only the trusted proxy gets the details.
import { Type } from 'typebox'
import { readinessSchema } from '../../platform/http/health.schemas.ts'
import { errorSchema } from '../../platform/http/http.schemas.ts'

export const healthSchema = {
  operationId: 'getHealth',
  summary: 'Reports whether the service can handle requests; details require a correct `X-Proxy-Auth`',
  tags: ['operations' as const],
  optionalCredential: 'proxySecret' as const,
  response: {
    200: Type.Union([Type.Object({ status: Type.Literal('ok') }), readinessSchema]),
    400: errorSchema,
    500: errorSchema,
    503: Type.Union([Type.Object({ status: Type.Literal('unavailable') }), readinessSchema]),
  },
}
