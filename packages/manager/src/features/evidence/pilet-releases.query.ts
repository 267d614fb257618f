import { isAbout, trailQuery } from './trail-query.pure.ts'

export const piletReleases = trailQuery({
  name: 'pilet-releases',
  title: 'Parts of frontends that were released',
  description:
    'Versions of pilets that were uploaded, enabled, disabled, described or signed, with the SHA-256 of an upload. The keys that sign are in credential-rotations.',
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
  condition: isAbout(['piletPackage']),
})
