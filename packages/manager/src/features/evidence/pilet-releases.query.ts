import { buildEntityCondition, createTrailQuery } from './trail-query.pure.ts'

export const piletReleases = createTrailQuery({
  name: 'pilet-releases',
  title: 'Pilet releases',
  description:
    'Pilet versions that were uploaded, enabled, disabled, signed, or given a new description, with the SHA-256 hash of each upload. Signing keys are in credential-rotations.',
  controls: [
    'ISO/IEC 27001:2022 A.8.32',
    'ISO/IEC 27001:2022 A.8.19',
    'SOC 2 CC8.1',
    'NIST SP 800-53 CM-3',
    'NIST SP 800-53 SI-7',
  ],
  columns: {
    sha256: "l.changes #>> '{hash,after}'",
    enabled_after: "(l.changes #>> '{enabled,after}')::boolean",
  },
  condition: buildEntityCondition(['piletPackage']),
})
