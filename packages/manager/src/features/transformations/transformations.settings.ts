// The settings of transformations.
import { boolean, setting } from '../../config/readers.ts'

export const transformationSettings = {
  esbTemplateBuiltins: setting(boolean, {
    key: 'esb.template_builtins',
    env: 'SVC_ESB_TEMPLATE_BUILTINS',
    default: false,
    doc: 'Lets transformation templates use the functions of Go (`and or not eq ne lt le gt ge len index slice print printf println html js urlquery`) beside the seven of the ESB.',
  }),
} as const
