#!/bin/sh
# Made by npm run generate from edge/config.ts. Arguments are further flags of deno run, such as --allow-read=dist,/etc/gateway.
cd "$(dirname "$0")/../.." || exit 1
exec deno run --allow-net '--allow-env=INTEGRATION_*,ADMIN_*,DATABASE_*,HOST,PORT,SHUTDOWN_*,GATEWAY_*,TOKEN_*,MLLP_*,METRICS_*,FHIR_*,HL7_*,MAX_*,RATE_*,JOB_*,TRUSTED_*,JWKS_*,DENO_DEPLOYMENT_ID' --ignore-env --allow-sys=ca --allow-read=dist "$@" edge/platform/deno.ts
