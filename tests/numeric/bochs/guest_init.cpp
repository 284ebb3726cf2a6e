// SPDX-License-Identifier: Apache-2.0
//
// The first process of the machine that run_in_bochs.sh boots. Runs /program with the NUL-separated arguments of
// /arguments, sends its stdout and stderr out of the first and second printer port, writes "exit=N" on the serial line
// and stops the emulator. Printer ports, because bochs writes their bytes to a file as they are and at once, where the
// serial line has a baud rate.
#include <fcntl.h>
#include <poll.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr unsigned short kPrinterPorts[] = {0x378, 0x278};
/// Writing this word to bochs' own port ends the emulator.
constexpr unsigned short kShutdownPort = 0x8900;
constexpr char kShutdownWord[] = "Shutdown";
constexpr int kKilledBySignal = 128;

int serial = -1;

void say(const std::string& text) {
  const ssize_t written = write(serial, text.data(), text.size());
  static_cast<void>(written);
}

void print(unsigned short port, const unsigned char* data, ssize_t size) {
  constexpr unsigned char kStrobe = 0x0d, kIdle = 0x0c;
  for (ssize_t i = 0; i < size; ++i) {
    outb(data[i], port);
    outb(kStrobe, static_cast<unsigned short>(port + 2));
    outb(kIdle, static_cast<unsigned short>(port + 2));
  }
}

[[noreturn]] void stop(int code) {
  say("\nexit=" + std::to_string(code) + "\n");
  tcdrain(serial);
  for (const char* letter = kShutdownWord; *letter != '\0'; ++letter)
    outb(static_cast<unsigned char>(*letter), kShutdownPort);
  reboot(RB_POWER_OFF);
  for (;;) pause();
}

void open_console() {
  for (const char* folder : {"/dev", "/proc", "/sys"}) mkdir(folder, 0755);
  mount("dev", "/dev", "devtmpfs", 0, nullptr);
  mount("proc", "/proc", "proc", 0, nullptr);
  mount("sys", "/sys", "sysfs", 0, nullptr);
  serial = open("/dev/ttyS0", O_RDWR | O_NOCTTY);
  termios line{};
  tcgetattr(serial, &line);
  cfmakeraw(&line);
  cfsetspeed(&line, B115200);
  tcsetattr(serial, TCSANOW, &line);
}

std::string read_arguments() {
  std::string all;
  char part[4096];
  const int file = open("/arguments", O_RDONLY);
  for (ssize_t n = 0; (n = read(file, part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(n));
  close(file);
  return all;
}

[[noreturn]] void become_program(const int (&outputs)[2]) {
  iopl(0);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(outputs[0], STDOUT_FILENO);
  dup2(outputs[1], STDERR_FILENO);
  std::string text = read_arguments();
  std::vector<char*> arguments;
  for (std::size_t at = 0; at < text.size(); at += std::strlen(text.data() + at) + 1)
    arguments.push_back(text.data() + at);
  arguments.push_back(nullptr);
  execv("/program", arguments.data());
  _exit(127);
}

/// Until the program has closed both pipes.
void pass_on(const int (&pipes)[2]) {
  pollfd polled[2] = {{pipes[0], POLLIN, 0}, {pipes[1], POLLIN, 0}};
  static unsigned char data[1 << 16];
  for (int open_pipes = 2; open_pipes > 0;) {
    if (poll(polled, 2, -1) < 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      const ssize_t size = read(polled[i].fd, data, sizeof data);
      if (size > 0) {
        print(kPrinterPorts[i], data, size);
      } else {
        polled[i].fd = -1;
        --open_pipes;
      }
    }
  }
}

}  // namespace

int main() {
  open_console();
  int out[2], err[2];
  if (iopl(3) != 0 || pipe(out) != 0 || pipe(err) != 0) stop(126);
  const pid_t child = fork();
  if (child == 0) {
    close(out[0]);
    close(err[0]);
    become_program({out[1], err[1]});
  }
  close(out[1]);
  close(err[1]);
  pass_on({out[0], err[0]});
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  stop(WIFEXITED(status) ? WEXITSTATUS(status) : kKilledBySignal + WTERMSIG(status));
}
