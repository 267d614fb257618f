// Starts a gateway with short body timeouts.
import { type Gateway, startGateway } from './gateway.ts'

export const [stallMs, timeoutMs] = [400, 1_500]

export const startImpatientGateway = (): Promise<Gateway> =>
  startGateway({
    env: {
      SVC_ESB_BODY_STALL_TIMEOUT: `${stallMs}ms`,
      SVC_ESB_BODY_TIMEOUT: `${timeoutMs}ms`,
    },
  })
