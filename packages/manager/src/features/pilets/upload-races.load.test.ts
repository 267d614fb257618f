// Uploads of one version race for PostgreSQL.
import { testUploadRaces } from '../../../test/kit/upload-races.ts'

testUploadRaces('postgres')
