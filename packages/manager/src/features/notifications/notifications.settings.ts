// These settings limit the rate of notifications and of live hints.
import { type Reader, integer, defineSetting } from '../../config/readers.ts'

const rate: Reader<number> = integer(1, 1_000_000)

export const notificationSettings = {
  commsEmitRate: defineSetting(rate, {
    key: 'comms.emit_rate',
    env: 'SVC_COMMS_EMIT_RATE',
    default: 10,
    doc: 'Maximum number of notifications per second that an application may emit continuously. `comms.emit_burst` allows short bursts above this rate.',
  }),
  commsEmitBurst: defineSetting(rate, {
    key: 'comms.emit_burst',
    env: 'SVC_COMMS_EMIT_BURST',
    default: 100,
    doc: 'Maximum number of notifications that an application may emit in one burst.',
  }),
  commsPublishRate: defineSetting(rate, {
    key: 'comms.publish_rate',
    env: 'SVC_COMMS_PUBLISH_RATE',
    default: 50,
    doc: 'Maximum number of live hints per second that an application may publish continuously. `comms.publish_burst` allows short bursts above this rate.',
  }),
  commsPublishBurst: defineSetting(rate, {
    key: 'comms.publish_burst',
    env: 'SVC_COMMS_PUBLISH_BURST',
    default: 200,
    doc: 'Maximum number of live hints that an application may publish in one burst.',
  }),
} as const
