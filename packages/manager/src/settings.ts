// Lists every setting of the platform and of the features. Commands can read the settings without loading the
// features. The service does not start if a feature's setting is missing here.
import { blobSettings } from './config/blob-settings.ts'
import { commsSettings } from './config/comms-settings.ts'
import { joinSettings } from './config/config.ts'
import { directorySettings } from './config/directory-settings.ts'
import { accessTokenSettings } from './features/access-tokens/access-tokens.settings.ts'
import { auditSettings } from './features/audit/audit.settings.ts'
import { backendSettings } from './features/backends/backends.settings.ts'
import { callLogSettings } from './features/call-log/call-log.settings.ts'
import { cliLoginSettings } from './features/cli-login/cli-login.settings.ts'
import { consoleSettings } from './features/console/console.settings.ts'
import { evidenceSettings } from './features/evidence/evidence.settings.ts'
import { gatewaySettings } from './features/gateway/gateway.settings.ts'
import { invitationSettings } from './features/invitations/invitations.settings.ts'
import { socketSettings } from './features/live-sockets/sockets.settings.ts'
import { machineUserSettings } from './features/machine-users/machine-users.settings.ts'
import { notificationSettings } from './features/notifications/notifications.settings.ts'
import { piletSettings } from './features/pilets/pilets.settings.ts'
import { proxyAuthSettings } from './features/proxy-auth/proxy-auth.settings.ts'
import { scimSettings } from './features/scim/scim.settings.ts'
import { transformationSettings } from './features/transformations/transformations.settings.ts'
import { triggersSettings } from './features/triggers/triggers.settings.ts'

/** All settings, in the order in which the documentation lists them. */
export const settings = joinSettings([
  accessTokenSettings,
  auditSettings,
  backendSettings,
  callLogSettings,
  cliLoginSettings,
  consoleSettings,
  commsSettings,
  notificationSettings,
  socketSettings,
  directorySettings,
  evidenceSettings,
  gatewaySettings,
  invitationSettings,
  machineUserSettings,
  piletSettings,
  blobSettings,
  proxyAuthSettings,
  scimSettings,
  transformationSettings,
  triggersSettings,
])
