import { joinWithOr, buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const credentialRotations = createTrailQuery({
  name: 'credential-rotations',
  title: 'Rotated credentials and keys',
  description:
    'Rotated machine user credentials, replaced endpoint secrets, changes to pilet signing keys, and master key rotations. The audit trail does not contain the secrets. Personal access tokens cannot be rotated; pat-lifecycle lists their creation and revocation.',
  controls: [
    'ISO/IEC 27001:2022 A.5.17',
    'ISO/IEC 27001:2022 A.8.24',
    'SOC 2 CC6.1',
    'NIST SP 800-53 IA-5',
    'NIST SP 800-53 SC-12',
  ],
  condition: joinWithOr(
    buildEntityCondition(['machineUser', 'installation'], 'rotate'),
    `(${buildEntityCondition(['endpoint'], 'update')} and l.changes ?| array['authPassword', 'authToken'])`,
    buildEntityCondition(['piletSigningKey']),
  ),
})
