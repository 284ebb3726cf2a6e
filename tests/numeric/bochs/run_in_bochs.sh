#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run_in_bochs.sh INIT PROGRAM [ARGS...]
#
# Runs a static Linux program on a CPU with AVX-512 that Bochs emulates, under a Debian kernel whose root is a RAM disk
# with INIT (guest_init.cpp) and the program alone. Stdout, stderr and exit code are the program's (128 + N if signal N
# killed it). 124: it took too long. 125: the emulator or the kernel failed. Boots in some 12 seconds and then runs
# about 30 million instructions a second.
#
# Debian packages: bochs bochsbios bochs-term vgabios isolinux syslinux-common xorriso cpio
# and, fetched once by apt-get download, unless TENFOLD_BOCHS_KERNEL names a vmlinuz: linux-image-cloud-amd64's kernel
#
#   TENFOLD_BOCHS_CPU      bochs' CPU model (default corei7_skylake_x, which has AVX512F, CD, BW, DQ, VL)
#   TENFOLD_BOCHS_SECONDS  the most that the run may take (default 900)
#   TENFOLD_BOCHS_CACHE    where the kernel is kept (default tenfold-bochs under $XDG_CACHE_HOME)
#   TENFOLD_BOCHS_CONSOLE  1: show the guest's console
set -euo pipefail

cpu=${TENFOLD_BOCHS_CPU:-corei7_skylake_x}
seconds=${TENFOLD_BOCHS_SECONDS:-900}
cache=${TENFOLD_BOCHS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tenfold-bochs}
console=${TENFOLD_BOCHS_CONSOLE:-0}
readonly guest_mib=256
readonly emulator_failed=125 timed_out=124 killed=137

die() { echo "run_in_bochs: $*" >&2; exit "$emulator_failed"; }

check_tools() {
  local entry
  for entry in bochs-bin:bochs xorriso:xorriso cpio:cpio; do
    command -v "${entry%%:*}" >/dev/null || die "${entry%%:*} is missing (package ${entry#*:})"
  done
  for entry in /usr/share/bochs/BIOS-bochs-latest:bochsbios /usr/share/bochs/VGABIOS-lgpl-latest:vgabios \
               /usr/lib/ISOLINUX/isolinux.bin:isolinux /usr/lib/syslinux/modules/bios/ldlinux.c32:syslinux-common; do
    [ -e "${entry%%:*}" ] || die "${entry%%:*} is missing (package ${entry#*:})"
  done
}

# Sets `kernel`. The meta package names the versioned one that has the file.
find_kernel() {
  kernel=${TENFOLD_BOCHS_KERNEL:-$cache/vmlinuz}
  [ -s "$kernel" ] && return
  local package
  package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ { print $2; exit }')
  [ -n "$package" ] || die "apt knows no linux-image-cloud-amd64 (run apt-get update)"
  echo "run_in_bochs: fetching $package" >&2
  mkdir -p "$cache" "$work/package"
  # As root, apt complains that its own user cannot write here; it then downloads as root.
  (cd "$work/package" && apt-get -qq download "$package" 2>"$work/apt.log") || { cat "$work/apt.log" >&2; die "no $package"; }
  dpkg-deb --fsys-tarfile "$work"/package/*.deb | tar -xO --wildcards './boot/vmlinuz-*' >"$work/vmlinuz"
  mv "$work/vmlinuz" "$kernel"
}

make_disk() {
  mkdir -p "$work/root/dev" "$work/disk/isolinux"
  install -m 755 "$init" "$work/root/init"
  install -m 755 "$program" "$work/root/program"
  printf '%s\0' "$program" "$@" >"$work/root/arguments"
  (cd "$work/root" && find . | cpio --quiet -o -H newc -R 0:0) >"$work/disk/initrd"
  cp "$kernel" "$work/disk/vmlinuz"
  cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$work/disk/isolinux/"

  local options="console=ttyS0,115200 quiet loglevel=3"
  [ "$console" = 0 ] || options="console=ttyS0,115200 loglevel=7"
  # One old-fashioned processor. A panic reboots, and with reboot=t that is a triple fault, which ends bochs.
  options+=" nokaslr mitigations=off tsc=reliable no_timer_check acpi=off noapic nolapic panic=-1 reboot=t"
  # Bochs' sizes for compacted XSAVE and for PKRU look inconsistent to the kernel, which would then switch AVX off; with
  # the others it hangs on newer CPU models. This hides them from the kernel alone: CPUID says what it said.
  options+=" clearcpuid=pku,xsavec,xsaves,fsrm,la57,umip,sha_ni,vaes,rdpid"
  # Self-tests and tracing would be 17 of 28 seconds.
  options+=" cryptomgr.notests initcall_blacklist=load_system_certificate_list,crypto_algapi_init,trace_eval_init"
  options+=",init_trace_printk_function_export,init_kprobe_trace,event_trace_init,cubictcp_register,bpf_tcp_ca_kfunc_init"
  printf '%s\n' "DEFAULT guest" "PROMPT 0" "TIMEOUT 1" "LABEL guest" " KERNEL /vmlinuz" " INITRD /initrd" \
    " APPEND $options" >"$work/disk/isolinux/isolinux.cfg"
  xorriso -as mkisofs -quiet -o "$work/disk.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot \
    -boot-load-size 4 -boot-info-table "$work/disk" 2>"$work/xorriso.log" || { cat "$work/xorriso.log" >&2; die "xorriso"; }
}

write_settings() {
  cat >"$work/bochsrc" <<END
cpu: model=$cpu, count=1, ips=50000000, reset_on_triple_fault=0
memory: guest=$guest_mib, host=$guest_mib
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path=$work/disk.iso, status=inserted
boot: cdrom
display_library: term
log: $work/bochs.log
panic: action=fatal
error: action=report
info: action=report
debug: action=ignore
com1: enabled=1, mode=file, dev=$work/serial
parport1: enabled=1, file=$work/stdout
parport2: enabled=1, file=$work/stderr
clock: sync=none
speaker: enabled=0
END
  # Debian builds bochs with its debugger, which waits for a command before the first instruction.
  echo continue >"$work/debugger"
  : >"$work/serial"; : >"$work/stdout"; : >"$work/stderr"
}

[ $# -ge 2 ] || die "usage: $0 INIT PROGRAM [ARGS...]"
init=$1 program=$2
shift 2
for file in "$init" "$program"; do [ -f "$file" ] || die "no such program: $file"; done
check_tools
work=$(mktemp -d "${TMPDIR:-/tmp}/tenfold-bochs.XXXXXX")
trap 'rm -rf "$work"' EXIT
find_kernel
make_disk "$@"
write_settings

# By SIGKILL, for bochs catches SIGTERM and goes on. The shell in between keeps bash from announcing the kill.
ended=0
{ TERM=vt100 timeout -s KILL "$seconds" bochs-bin -q -unlock -f "$work/bochsrc" -rc "$work/debugger" \
    </dev/null >"$work/screen" 2>&1; } 2>/dev/null || ended=$?

cat "$work/stdout"
cat "$work/stderr" >&2
[ "$console" = 0 ] || cat "$work/serial" >&2
code=$(tr -d '\r' <"$work/serial" | sed -n 's/^exit=\([0-9][0-9]*\)$/\1/p' | tail -1)
[ -z "$code" ] || exit "$code"
if [ "$ended" -eq "$killed" ]; then
  echo "run_in_bochs: not done after $seconds seconds" >&2
  exit "$timed_out"
fi
tail -20 "$work/serial" >&2
grep -a PANIC "$work/bochs.log" >&2 || true
die "bochs ended with $ended and the program with nothing"
